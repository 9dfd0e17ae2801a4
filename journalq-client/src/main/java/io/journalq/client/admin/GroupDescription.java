package io.journalq.client.admin;

import java.util.List;

/**
 * A group with its members. Immutable.
 *
 * @param type {@code classic}, or {@code consumer} for the protocol of KIP-848
 * @param state the state, such as {@code Stable} or {@code Empty}; {@code Dead} if there is no such group
 * @param epoch the epoch of a group of the consumer protocol; -1 for a classic group
 * @param assignor the assignor that distributes the partitions; empty if none has been chosen
 */
public record GroupDescription(
        String groupId, String type, String state, int epoch, String assignor, List<GroupMemberDescription> members) {}
