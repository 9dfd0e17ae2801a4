/**
 * End-to-end encryption (JQE1): producers seal batches, and consumers open them. Brokers, their operators and their disks
 * see neither keys nor values nor headers.
 *
 * <p>Applications use {@link io.journalq.seal.SealPolicy}, {@link io.journalq.seal.KeyVault} and {@link
 * io.journalq.seal.SealAdmin}. The package knows the client only through {@code io.journalq.client.seal}, and uses only
 * the cryptography of Java.
 *
 * <ul>
 *   <li>A sender makes an <i>epoch</i> with a random secret ({@code EpochKeys}), and publishes it in a {@code KeyPacket}
 *       for the roles that may read the topic. {@code Hpke} encrypts it for each role.
 *   <li>The {@link io.journalq.seal.Registry} says who may send and read. A root key signs it, and {@link
 *       io.journalq.seal.TrustPolicy} pins that key.
 *   <li>{@code SealedBatch} and {@code SealedRecords} are the two formats of a batch. {@code OrderGuard} detects batches
 *       that come twice or in the wrong order.
 * </ul>
 */
package io.journalq.seal;
