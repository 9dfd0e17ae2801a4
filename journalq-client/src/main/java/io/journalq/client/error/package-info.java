/**
 * The exceptions of the client. {@link io.journalq.client.error.JournalQException} is the base class of all others. Catch a
 * subclass to handle one error, or the base class to handle all of them alike.
 */
package io.journalq.client.error;
