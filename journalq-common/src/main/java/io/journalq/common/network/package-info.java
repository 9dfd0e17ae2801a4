/** Host names of connections. Depends on no other package of the project. */
package io.journalq.common.network;
