/** Values of consumer groups: committed offsets, members, topic patterns, and the rebalance listener. */
package io.journalq.client.group;
