/** The records that a {@link io.journalq.client.Producer} sends, and the metadata of acknowledged records and batches. */
package io.journalq.client.record;
