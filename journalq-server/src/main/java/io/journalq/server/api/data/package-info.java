/**
 * The APIs that move records and position readers: Produce, Fetch, ListOffsets, OffsetForLeaderEpoch, DeleteRecords. In
 * come requests on their connections' loops; each partition's share goes to the shard that owns it, once, and the
 * answer comes back once.
 *
 * <p>Knows shards and the metadata image; decides nothing about journals.
 */
package io.journalq.server.api.data;
