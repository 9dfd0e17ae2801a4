/**
 * The benchmark program. This package holds only the exception that all packages below it share.
 *
 * <p>{@code cli} and {@code scenario} hold the commands. They measure the brokers and clients of {@code driver} and {@code
 * peer} with the load of {@code produce}, {@code traffic} and {@code load}, and present results with {@code output}.
 */
package io.journalq.bench;
