/**
 * The wire protocol. In come the bytes of one frame, out goes a message (package {@code message}, generated), and back
 * again: {@link io.journalq.common.protocol.MessageReader} and {@link io.journalq.common.protocol.MessageWriter} know the
 * primitive types, the generated classes their order per version, {@link io.journalq.common.protocol.ApiKey} (generated
 * too) which API is which. Nothing here knows connections, what a message means, or what stands inside records.
 */
package io.journalq.common.protocol;
