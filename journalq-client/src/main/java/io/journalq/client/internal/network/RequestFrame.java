package io.journalq.client.internal.network;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.message.RequestHeader;
import io.journalq.common.protocol.message.ResponseHeader;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.util.List;
import java.util.function.Supplier;

/** Encodes the frame and header of requests and decodes the header of responses. Stateless; any thread. */
public final class RequestFrame {
    private static final short FIRST_VERSION_WITH_CLIENT_ID = 1;

    private RequestFrame() {}

    /**
     * Encodes a frame. The caller writes the parts in order, which releases them.
     *
     * @param request is called when there is memory for the frame, so that no reference of its records is lost
     */
    public static List<ReferenceCounted> encode(
            ByteBufAllocator allocator,
            ApiKey key,
            short version,
            int correlationId,
            String clientId,
            Supplier<? extends ApiMessage> request,
            int copiedBytes) {
        MessageWriter out = MessageWriter.frame(allocator, copiedBytes);
        boolean finished = false;
        try {
            short headerVersion = key.requestHeaderVersion(version);
            RequestHeader header = new RequestHeader()
                    .setRequestApiKey(key.id())
                    .setRequestApiVersion(version)
                    .setCorrelationId(correlationId);
            if (headerVersion >= FIRST_VERSION_WITH_CLIENT_ID) {
                header.setClientId(clientId);
            }
            header.write(out, headerVersion);
            request.get().write(out, version);
            List<ReferenceCounted> parts = out.finish();
            finished = true;
            return parts;
        } finally {
            if (!finished) {
                out.release();
            }
        }
    }

    /** Reads the header of a response and returns its correlation id. */
    public static int readCorrelationId(MessageReader in, ApiKey key, short version) {
        return ResponseHeader.read(in, key.responseHeaderVersion(version)).correlationId();
    }
}
