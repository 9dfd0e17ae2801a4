/** Conversion between the bytes of records and objects. Knows no clients and no records. */
package io.journalq.client.serialization;
