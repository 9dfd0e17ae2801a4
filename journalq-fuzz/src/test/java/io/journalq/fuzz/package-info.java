/**
 * Everything that reads bytes which nobody vouches for, each as a {@link io.journalq.fuzz.FuzzTarget}: frames, requests,
 * batches, records of groups and of metadata, and the files of a journal. In go bytes; out comes nothing, or a defect: an
 * exception that is not expected, memory out of proportion, a buffer not given back, a response that never comes.
 *
 * <p>Every build runs the targets over their seeds, over the inputs in {@code src/test/corpus}, and over some thousand
 * changes of both. {@link io.journalq.fuzz.FuzzCampaign} lets a fuzzer look for more, guided by coverage.
 */
package io.journalq.fuzz;
