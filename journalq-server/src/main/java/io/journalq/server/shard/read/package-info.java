/**
 * The part of a partition that consumers see: its log up to the high watermark or the last stable offset, and the
 * fetches that are parked until there is more. In come reads from request handlers and progress from the append path;
 * out go slices of the journal. Knows neither appends nor requests.
 */
package io.journalq.server.shard.read;
