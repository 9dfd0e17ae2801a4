package io.journalq.fuzz;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/**
 * Headers and bodies of every request, as the broker reads them, and of every response, as a client does. First byte: the
 * API, with the highest bit for a response; second: the version; then the message.
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
                seeds.add(seed(key.id(), version - key.lowestVersion(), SampleMessages.request(key, version)));
                seeds.add(seed(
                        key.id() | RESPONSE, version - key.lowestVersion(), SampleMessages.response(key, version)));
            }
        }
        return seeds;
    }

    private static byte[] seed(int api, int version, byte[] body) {
        byte[] seed = new byte[PREFIX_SIZE_BYTES + body.length];
        seed[0] = (byte) api;
        seed[1] = (byte) version;
        System.arraycopy(body, 0, seed, PREFIX_SIZE_BYTES, body.length);
        return seed;
    }

    @Override
    public void run(byte[] input) {
        if (input.length < PREFIX_SIZE_BYTES) {
            return;
        }
        ApiKey key = ApiKey.of((short) (input[0] & ~RESPONSE));
        if (key == null) {
            return;
        }
        int versions = key.highestVersion() - key.lowestVersion() + 1;
        short version = (short) (key.lowestVersion() + Math.floorMod(input[1], versions));
        ByteBuf body = Unpooled.wrappedBuffer(input, PREFIX_SIZE_BYTES, input.length - PREFIX_SIZE_BYTES);
        readHeader(body);
        try {
            MessageReader in = new MessageReader(body);
            if ((input[0] & RESPONSE) == 0) {
                ApiMessages.readRequest(key, in, version);
            } else {
                ApiMessages.readResponse(key, in, version);
            }
        } catch (BadFrameException expected) {
            return;
        }
    }

    private static void readHeader(ByteBuf body) {
        try {
            Frames.readRequestHeader(new MessageReader(body));
        } catch (BadFrameException expected) {
            return;
        }
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
