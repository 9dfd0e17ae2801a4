package io.journalq.fuzz;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.Message;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.RequestHeader;
import io.journalq.common.protocol.message.ResponseHeader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Headers and bodies of every request, as the broker reads them, and of every response, as a client does. First byte: the
 * API, with the highest bit for a response; second: the version; then header and body.
 */
class MessageTarget implements FuzzTarget {
    private static final int RESPONSE = 0x80;
    private static final int PREFIX_SIZE_BYTES = 2;

    /** The smallest element takes two bytes on the wire and its object some tens in memory. */
    private static final int MAX_ALLOCATED_PER_BYTE = 80;

    private static final int MAX_ALLOCATED_EXTRA_BYTES = 64 * 1024;

    @Override
    public String name() {
        return "messages";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (ApiKey key : ApiKey.values()) {
            if (key.id() >= RESPONSE) {
                continue; // ReadReplica has no room in the first byte. ServerTarget sends it.
            }
            for (short version : new short[] {key.lowestVersion(), key.highestVersion()}) {
                int number = version - key.lowestVersion();
                RequestHeader header = new RequestHeader()
                        .setRequestApiKey(key.id())
                        .setRequestApiVersion(version)
                        .setClientId(SampleMessages.NAME);
                seeds.add(seed(
                        key.id(),
                        number,
                        SampleMessages.write((Message) header, key.requestHeaderVersion(version)),
                        SampleMessages.request(key, version)));
                seeds.add(seed(
                        key.id() | RESPONSE,
                        number,
                        SampleMessages.write((Message) new ResponseHeader(), key.responseHeaderVersion(version)),
                        SampleMessages.response(key, version)));
            }
        }
        return seeds;
    }

    private static byte[] seed(int api, int version, byte[] header, byte[] body) {
        return ByteBuffer.allocate(PREFIX_SIZE_BYTES + header.length + body.length)
                .put((byte) api)
                .put((byte) version)
                .put(header)
                .put(body)
                .array();
    }

    @Override
    public void run(byte[] input) {
        read(input);
    }

    /** Whether the input is a message with its header, to the last byte. */
    static boolean read(byte[] input) {
        if (input.length < PREFIX_SIZE_BYTES) {
            return false;
        }
        ApiKey key = ApiKey.of((short) (input[0] & RESPONSE - 1));
        if (key == null) {
            return false;
        }
        int versions = key.highestVersion() - key.lowestVersion() + 1;
        short version = (short) (key.lowestVersion() + Math.floorMod(input[1], versions));
        ByteBuf message = Unpooled.wrappedBuffer(input, PREFIX_SIZE_BYTES, input.length - PREFIX_SIZE_BYTES);
        MessageReader in = new MessageReader(message);
        try {
            if ((input[0] & RESPONSE) == 0) {
                Frames.readRequestHeader(in);
                ApiMessages.readRequest(key, in, version);
            } else {
                Frames.readResponseHeader(in, key, version);
                ApiMessages.readResponse(key, in, version);
            }
        } catch (BadFrameException expected) {
            return false;
        }
        return in.remaining() == 0;
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
