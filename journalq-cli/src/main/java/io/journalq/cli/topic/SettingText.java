package io.journalq.cli.topic;

import io.journalq.common.unit.Units;

/**
 * Formats the value of a setting for people. Brokers report plain numbers. The protocol does not report their units, so
 * the suffix of the name determines the unit, for the settings of every broker and release. Stateless.
 */
final class SettingText {
    private SettingText() {}

    /** Returns the value and, for a duration or a size that is whole in a larger unit, the same in that unit. */
    static String of(String name, String value) {
        if (value == null || !value.matches("[1-9]\\d{0,18}")) {
            return value;
        }
        long number;
        try {
            number = Long.parseLong(value);
        } catch (NumberFormatException tooLarge) {
            return value;
        }
        if (name.endsWith(".ms")) {
            return with(value, Units.formatDuration(number), value + "ms");
        }
        return name.endsWith(".bytes") ? with(value, Units.formatSize(number), value + "B") : value;
    }

    private static String with(String value, String exact, String plain) {
        return exact.equals(plain) ? value : value + " (" + exact + ")";
    }
}
