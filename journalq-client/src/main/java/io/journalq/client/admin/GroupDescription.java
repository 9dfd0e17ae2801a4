package io.journalq.client.admin;

import java.util.List;

/**
 * A group and who is in it. Immutable.
 *
 * @param type {@code classic}, or {@code consumer} for the protocol of KIP-848
 * @param state such as {@code Stable} or {@code Empty}; {@code Dead} when there is no such group
 * @param epoch of a group of the consumer protocol; -1 for a classic one
 * @param assignor who shares partitions out; empty when nobody did yet
 */
public record GroupDescription(
        String groupId, String type, String state, int epoch, String assignor, List<GroupMemberDescription> members) {}
