package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.EnvelopeRequest;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Principal;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Encodes and decodes the parts of an envelope. Its buffers are on the heap and need no release. Stateless. */
final class Envelopes {
    private static final int FRAME_LENGTH_BYTES = 4;
    private static final char SEPARATOR = ':';

    private Envelopes() {}

    static EnvelopeRequest request(RequestContext context, ApiMessage request) {
        return new EnvelopeRequest()
                .setRequestData(withoutLength(Frames.request(
                        UnpooledByteBufAllocator.DEFAULT,
                        context.correlationId(),
                        context.clientId(),
                        request,
                        context.apiVersion())))
                .setRequestPrincipal(Unpooled.copiedBuffer(context.principal().toString(), StandardCharsets.UTF_8))
                .setClientHostAddress(
                        context.remoteAddress() instanceof InetSocketAddress client && client.getAddress() != null
                                ? Unpooled.wrappedBuffer(client.getAddress().getAddress())
                                : Unpooled.EMPTY_BUFFER);
    }

    static ByteBuf response(int correlationId, ApiMessage response, short version) {
        return withoutLength(Frames.response(UnpooledByteBufAllocator.DEFAULT, correlationId, response, version));
    }

    static ApiMessage readResponse(ByteBuf data, ApiKey key, short version) {
        MessageReader in = new MessageReader(data);
        Frames.readResponseHeader(in, key, version);
        return ApiMessages.readResponse(key, in, version);
    }

    private static ByteBuf withoutLength(List<ReferenceCounted> parts) {
        ByteBuf[] buffers = parts.stream().map(ByteBuf.class::cast).toArray(ByteBuf[]::new);
        ByteBuf frame = Unpooled.copiedBuffer(buffers);
        parts.forEach(ReferenceCounted::release);
        return frame.skipBytes(FRAME_LENGTH_BYTES);
    }

    /** @throws IllegalArgumentException if there is no principal in {@code bytes} */
    static Principal principal(ByteBuf bytes) {
        String text = bytes == null ? "" : bytes.toString(StandardCharsets.UTF_8);
        int separator = text.indexOf(SEPARATOR);
        if (separator < 1) {
            throw new IllegalArgumentException("not a principal");
        }
        return new Principal(text.substring(0, separator), text.substring(separator + 1));
    }

    /** @throws IllegalArgumentException if there is no address in {@code bytes} */
    static InetSocketAddress address(ByteBuf bytes) {
        byte[] address = new byte[bytes.readableBytes()];
        bytes.getBytes(bytes.readerIndex(), address);
        try {
            return new InetSocketAddress(InetAddress.getByAddress(address), 0);
        } catch (UnknownHostException wrongLength) {
            throw new IllegalArgumentException("not an address", wrongLength);
        }
    }
}
