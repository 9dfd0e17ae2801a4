package io.journalq.common.protocol.frame;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.Message;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.UnsupportedVersionException;
import io.journalq.common.protocol.message.RequestHeader;
import io.journalq.common.protocol.message.ResponseHeader;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.util.List;

/**
 * Encodes and decodes frames: a length of 4 bytes, a header, a body. Takes over the records of a body, as described at
 * {@link MessageWriter#writeRecords}. Stateless; any thread.
 */
public final class Frames {
    private Frames() {}

    /**
     * Encodes a request.
     *
     * @param clientId the name of the client for logs and quotas of the broker; may be null
     * @return the parts in order; the caller writes or releases them
     * @throws UnsupportedVersionException if {@code version} cannot represent a field that is set in {@code body}
     */
    public static List<ReferenceCounted> request(
            ByteBufAllocator allocator, int correlationId, String clientId, ApiMessage body, short version) {
        ApiKey key = body.apiKey();
        RequestHeader header = new RequestHeader()
                .setRequestApiKey(key.id())
                .setRequestApiVersion(version)
                .setCorrelationId(correlationId)
                .setClientId(clientId);
        return frame(allocator, header, key.requestHeaderVersion(version), body, version);
    }

    /** Encodes the response to a request of {@code version}. See {@link #request}. */
    public static List<ReferenceCounted> response(
            ByteBufAllocator allocator, int correlationId, ApiMessage body, short version) {
        ResponseHeader header = new ResponseHeader().setCorrelationId(correlationId);
        return frame(allocator, header, body.apiKey().responseHeaderVersion(version), body, version);
    }

    private static List<ReferenceCounted> frame(
            ByteBufAllocator allocator, Message header, short headerVersion, ApiMessage body, short version) {
        MessageWriter out = MessageWriter.frame(allocator);
        try {
            header.write(out, headerVersion);
            body.write(out, version);
            return out.finish();
        } catch (RuntimeException | Error e) {
            out.release();
            throw e;
        }
    }

    /**
     * Reads the header of a request, after the length. The API of the request exists, but the caller must check its
     * version.
     *
     * @throws BadFrameException if there is no such API, or the header is truncated
     */
    public static RequestHeader readRequestHeader(MessageReader in) {
        short id = in.peekShort(0);
        ApiKey key = ApiKey.of(id);
        if (key == null) {
            throw new BadFrameException("there is no API with number " + id);
        }
        return RequestHeader.read(in, key.requestHeaderVersion(in.peekShort(Short.BYTES)));
    }

    /** Reads the header of the response to a request of {@code version}, after the length. */
    public static ResponseHeader readResponseHeader(MessageReader in, ApiKey key, short version) {
        return ResponseHeader.read(in, key.responseHeaderVersion(version));
    }
}
