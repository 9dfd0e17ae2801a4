/**
 * The code generator. In come the protocol's message schemas (JSON with line comments), out goes Java source that reads
 * and writes them over the runtime of {@code io.journalq.common.protocol}. It runs inside the build only, and must not
 * know anything else of the project: the names of the runtime's classes stand in what it writes.
 */
package io.journalq.codegen;
