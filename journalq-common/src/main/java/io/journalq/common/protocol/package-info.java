/**
 * What the messages of the wire protocol are made of. {@link io.journalq.common.protocol.MessageReader} and {@link
 * io.journalq.common.protocol.MessageWriter} know the primitive types, and {@link io.journalq.common.protocol.ApiKey}, which
 * is generated, lists the APIs with their versions.
 *
 * <p>The generated classes in {@code message} use this package and know the order of the fields in each version. {@code
 * frame} uses both. Must not know connections, the meaning of a message, or the contents of records.
 */
package io.journalq.common.protocol;
