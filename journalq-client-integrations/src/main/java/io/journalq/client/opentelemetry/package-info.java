/** The context of traces in the headers of records. Needs {@code opentelemetry-context}, which {@code opentelemetry-api} brings. */
package io.journalq.client.opentelemetry;
