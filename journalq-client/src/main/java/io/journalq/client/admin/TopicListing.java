package io.journalq.client.admin;

import io.journalq.common.id.Uuid;

/**
 * A topic in a list. Immutable.
 *
 * @param id the id of the topic, or {@link Uuid#ZERO} if the broker does not report it
 * @param internal whether the topic is used by the broker itself
 */
public record TopicListing(String name, Uuid id, int partitionCount, boolean internal) {}
