/**
 * The APIs that read and write partitions: Produce, Fetch, ListOffsets, OffsetForLeaderEpoch, DeleteRecords.
 *
 * <p>In: requests, on the loops of their connections. The part of each shard is handed over to that shard once, and its
 * results are handed back once. Out: responses. Knows shards and the metadata image. Makes no decisions about journals.
 */
package io.journalq.server.api.data;
