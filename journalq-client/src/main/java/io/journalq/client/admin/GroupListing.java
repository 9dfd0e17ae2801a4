package io.journalq.client.admin;

/**
 * A group in a list. Immutable.
 *
 * @param protocolType {@code consumer} for consumer groups; empty if the group has only committed offsets
 * @param state the state, such as {@code Stable} or {@code Empty}; empty if the broker does not report it
 * @param type {@code classic} or {@code consumer}; empty if the broker does not report it
 */
public record GroupListing(String groupId, String protocolType, String state, String type) {}
