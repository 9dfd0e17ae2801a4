/**
 * From positions to batches: fetch sessions, prefetching, look-up of offsets. In: assigned partitions and positions. Out:
 * whole batches in the buffer they came in. Must not know sockets, nor decode records.
 */
package io.journalq.client.fetch;
