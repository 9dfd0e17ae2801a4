package io.journalq.common.protocol;

import io.journalq.common.protocol.message.RequestHeader;
import io.journalq.common.protocol.message.ResponseHeader;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.util.List;

/**
 * Whole frames: a 4-byte length, a header, a body. Stateless, any thread; takes over the records of a body, as
 * {@link MessageWriter#writeRecords} says.
 */
public final class Frames {
    private Frames() {}

    /**
     * Writes a request.
     *
     * @param clientId name of the client for the broker's logs and quotas, may be null
     * @return the parts in order, for the caller to write or release
     * @throws UnsupportedVersionException when {@code version} cannot carry what is set in {@code body}
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

    /** Writes the response to a request of {@code version}; the rest is as for {@link #request}. */
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
     * Reads the header of a request, after the length. The API exists; its version may be one that nobody supports, for
     * the caller to refuse.
     *
     * @throws BadFrameException when there is no such API or the header is cut short
     */
    public static RequestHeader readRequestHeader(MessageReader in) {
        short id = in.peekShort(0);
        ApiKey key = ApiKey.of(id);
        if (key == null) {
            throw new BadFrameException("no API has the number " + id);
        }
        return RequestHeader.read(in, key.requestHeaderVersion(in.peekShort(Short.BYTES)));
    }

    /** Reads the header of the response to a request that was sent as {@code version}, after the length. */
    public static ResponseHeader readResponseHeader(MessageReader in, ApiKey key, short version) {
        return ResponseHeader.read(in, key.responseHeaderVersion(version));
    }
}
