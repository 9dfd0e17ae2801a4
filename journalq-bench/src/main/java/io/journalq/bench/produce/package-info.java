/**
 * The four-case produce benchmark: what is sent and by whom, the run itself, and its result. In: a broker and a client to
 * drive. Out: a {@link io.journalq.bench.produce.ProduceResult}. It must not know which broker or client it drives.
 */
package io.journalq.bench.produce;
