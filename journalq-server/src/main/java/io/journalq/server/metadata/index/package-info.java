/**
 * Immutable indexes: a changed copy shares most of its content with the original. In: values. Out: the values by their
 * keys. Knows no metadata.
 */
package io.journalq.server.metadata.index;
