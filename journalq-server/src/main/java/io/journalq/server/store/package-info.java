/**
 * The materialised state of coordinators: the newest record of each key, so that a coordinator is loaded without
 * reading its whole journal. The journals remain the source of truth. The store can be deleted and rebuilt from them.
 *
 * <p>In: changed records with the offset up to which they are applied. Out: all records of one coordinator, and that
 * offset. This package must not know the meaning of the records, nor journals, loops or threads. Every call may block.
 */
package io.journalq.server.store;
