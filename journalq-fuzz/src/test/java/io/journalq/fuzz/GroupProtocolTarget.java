package io.journalq.fuzz;

import io.journalq.common.protocol.message.ConsumerProtocolAssignment;
import io.journalq.common.protocol.message.ConsumerProtocolSubscription;
import io.journalq.server.group.consumer.EmbeddedProtocol;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** What members of classic groups say of themselves, which the broker reads when such a group changes its protocol. */
final class GroupProtocolTarget implements FuzzTarget {
    private static final int MAX_ALLOCATED_PER_BYTE = 80;
    private static final int MAX_ALLOCATED_EXTRA_BYTES = 64 * 1024;
    private static final String PACKAGE = "io.journalq.common.protocol.message.";

    @Override
    public String name() {
        return "group-protocol";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (short v = 0; v <= ConsumerProtocolSubscription.HIGHEST_VERSION; v++) {
            seeds.add(versioned(v, SampleMessages.encode(PACKAGE + "ConsumerProtocolSubscription", v)));
        }
        for (short v = 0; v <= ConsumerProtocolAssignment.HIGHEST_VERSION; v++) {
            seeds.add(versioned(v, SampleMessages.encode(PACKAGE + "ConsumerProtocolAssignment", v)));
        }
        return seeds;
    }

    private static byte[] versioned(short version, byte[] content) {
        return ByteBuffer.allocate(Short.BYTES + content.length)
                .putShort(version)
                .put(content)
                .array();
    }

    @Override
    public void run(byte[] input) {
        EmbeddedProtocol.subscription(input);
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
