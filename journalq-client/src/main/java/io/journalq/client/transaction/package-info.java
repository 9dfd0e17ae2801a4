/** The API of transactions: what the application implements and calls inside {@link io.journalq.client.Producer#inTransaction}. */
package io.journalq.client.transaction;
