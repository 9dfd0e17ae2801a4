package io.journalq.server.group.consumer;

import io.journalq.server.group.model.GroupSize;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The metadata of a member. Immutable; the byte arrays of protocols are not modified.
 *
 * @param instanceId the group instance id of a static member; null for a dynamic one
 * @param rackId its rack; null if it has none
 * @param clientId from its requests
 * @param clientHost the address from which it last joined
 * @param topicNames topics that it subscribes to by name, ascending
 * @param topicRegex pattern of topics that it subscribes to; null for none
 * @param rebalanceTimeoutMs how long it may take to revoke partitions, in milliseconds
 * @param serverAssignor the assignor that it requests; null for the coordinator's choice
 * @param classic its metadata in the classic protocol; null if it uses the consumer protocol
 */
record MemberMetadata(
        String instanceId,
        String rackId,
        String clientId,
        String clientHost,
        List<String> topicNames,
        String topicRegex,
        int rebalanceTimeoutMs,
        String serverAssignor,
        Classic classic) {
    private static final long HASH_SEED = 0xcbf29ce484222325L;
    private static final long HASH_PRIME = 0x100000001b3L;

    MemberMetadata {
        topicNames = topicNames.stream().sorted().distinct().toList();
    }

    /**
     * The metadata of a member of the classic protocol.
     *
     * @param sessionTimeoutMs the member is removed after this time without a heartbeat, in milliseconds
     * @param protocols embedded protocols, the preferred one first
     */
    record Classic(int sessionTimeoutMs, List<ClassicSnapshot.Protocol> protocols) {
        Classic {
            protocols = List.copyOf(protocols);
        }

        boolean supports(String protocolName) {
            return protocols.stream().anyMatch(protocol -> protocol.name().equals(protocolName));
        }
    }

    /** Estimated heap size, without the member's id. */
    long sizeBytes() {
        long bytes = GroupSize.of(instanceId)
                + GroupSize.of(rackId)
                + GroupSize.of(clientId)
                + GroupSize.of(clientHost)
                + GroupSize.of(topicNames)
                + GroupSize.of(topicRegex)
                + GroupSize.of(serverAssignor);
        if (classic != null) {
            for (ClassicSnapshot.Protocol protocol : classic.protocols()) {
                bytes += GroupSize.of(protocol.name()) + GroupSize.of(protocol.metadata());
            }
        }
        return bytes;
    }

    boolean isClassic() {
        return classic != null;
    }

    /** A hash of the member and its subscription. For a static member it does not depend on the member id. */
    long subscriptionHash(String memberId) {
        long hash = mix(mix(HASH_SEED, instanceId == null ? memberId : ""), instanceId == null ? "" : instanceId);
        for (String topic : topicNames) {
            hash = mix(hash, topic);
        }
        return finish(mix(hash, topicRegex == null ? "" : topicRegex));
    }

    /** FNV-1a over a text and its end. */
    static long mix(long hash, String text) {
        long mixed = hash == 0 ? HASH_SEED : hash;
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            mixed = (mixed ^ (octet & 0xff)) * HASH_PRIME;
        }
        return (mixed ^ 0xff) * HASH_PRIME;
    }

    /** Spreads the last bytes over all bits, so that sums of hashes do not collide. */
    static long finish(long hash) {
        long mixed = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
        return mixed ^ (mixed >>> 33);
    }
}
