package io.journalq.client.admin;

import io.journalq.common.id.Uuid;

/**
 * One topic in a list. Immutable.
 *
 * @param id {@link Uuid#ZERO} when the broker does not tell
 * @param internal whether the broker keeps it for itself
 */
public record TopicListing(String name, Uuid id, int partitionCount, boolean internal) {}
