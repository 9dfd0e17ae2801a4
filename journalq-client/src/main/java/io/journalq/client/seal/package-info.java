/**
 * The interfaces of end-to-end encryption: what a producer calls to seal batches, what a consumer calls to open them, and
 * how both reach the topics of keys. The module {@code journalq-seal} implements them. This package knows nothing about
 * keys and formats.
 */
package io.journalq.client.seal;
