/** Identifiers: ids and topic partitions. All are immutable values. Depends on no other package of the project. */
package io.journalq.common.id;
