package io.journalq.server.group.consumer;

import io.journalq.server.group.model.GroupSize;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/**
 * What a member told of itself. Immutable; the bytes of protocols are not changed by anybody.
 *
 * @param instanceId the static member's name; null for a dynamic one
 * @param rackId its rack; null when it told none
 * @param clientId as its requests carry it
 * @param clientHost the address it last joined from
 * @param topicNames topics it subscribes to by name, ascending
 * @param topicRegex pattern of topics it subscribes to; null for none
 * @param rebalanceTimeoutMs how long it may take to give up partitions
 * @param serverAssignor the assignor it asks for; null when it leaves that to the coordinator
 * @param classic what it told in the classic protocol; null when it speaks the consumer protocol
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
     * What a member of the classic protocol told.
     *
     * @param sessionTimeoutMs it is gone after such a silence
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

    /** What it takes of the heap, about, without the member's id. */
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

    boolean subscribesLike(MemberMetadata other) {
        return topicNames.equals(other.topicNames) && Objects.equals(topicRegex, other.topicRegex);
    }

    /** A number that changes with the member and with what it subscribes to; a static member is one under any id. */
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

    /** Spreads what the last bytes changed over all bits, so that sums of hashes do not collide. */
    static long finish(long hash) {
        long mixed = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
        return mixed ^ (mixed >>> 33);
    }
}
