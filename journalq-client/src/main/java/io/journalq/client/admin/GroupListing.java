package io.journalq.client.admin;

/**
 * A group, as a listing has it. Immutable.
 *
 * @param protocolType {@code consumer} for groups of consumers; empty when the group only has offsets
 * @param state such as {@code Stable} or {@code Empty}; empty when the broker is too old to tell
 * @param type {@code classic} or {@code consumer}; empty when the broker is too old to tell
 */
public record GroupListing(String groupId, String protocolType, String state, String type) {}
