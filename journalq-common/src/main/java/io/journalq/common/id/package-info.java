/** Names of things: ids, topic partitions. Immutable values; knows nothing of the rest of the project. */
package io.journalq.common.id;
