/**
 * Follows the cluster's metadata: shards and coordinators open what an image adds and drop what it removes.
 *
 * <p>In: images, from {@link io.journalq.server.control.MetadataPublisher}. Out: calls to shards and coordinators.
 * Knows all of them, so none of them may know this package.
 */
package io.journalq.server.shard.metadata;
