/**
 * A broker inside another process, usually a test. Settings are set with the builder, and clients connect to the
 * address of the broker. Knows only the composition root and the settings of the broker.
 */
package io.journalq.embedded;
