/** Keys and values as JSON, written and read by Jackson. Needs {@code jackson-databind}. */
package io.journalq.client.jackson;
