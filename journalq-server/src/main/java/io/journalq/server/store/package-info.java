/**
 * The state of coordinators, materialised: the newest record of each key, so that a coordinator is loaded without reading
 * its whole journal. The journals stay the truth; what is here can be thrown away and built from them.
 *
 * <p>In: changed records with the offset up to which they are applied. Out: all records of one coordinator, and that
 * offset. It must not know what records mean, nor journals, loops or threads: every call may block.
 */
package io.journalq.server.store;
