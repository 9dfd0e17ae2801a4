/**
 * One class per schema of the protocol, generated at build time; the sources are under {@code
 * target/generated-sources/messages}. They are plain values that know their layout in every version, and nothing else.
 */
package io.journalq.common.protocol.message;
