// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A number of bytes: {@code 4096}, {@code 64k}, {@code 8m}, {@code 1g}, {@code 64MiB}; units are powers of 1024. */
public record ByteSize(long bytes) {
    private static final Pattern SYNTAX = Pattern.compile("(\\d{1,18})\\s*([kmgt]?)(i?b)?", Pattern.CASE_INSENSITIVE);

    public static ByteSize parse(String text) {
        Matcher matcher = SYNTAX.matcher(text.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("\"" + text + "\" is not a size; 4096, 64k and 8m are");
        }
        int shift = switch (matcher.group(2).toLowerCase(Locale.ROOT)) {
            case "k" -> 10;
            case "m" -> 20;
            case "g" -> 30;
            case "t" -> 40;
            default -> 0;
        };
        long number = Long.parseLong(matcher.group(1));
        if (number > Long.MAX_VALUE >> shift) {
            throw new IllegalArgumentException("\"" + text + "\" is too large");
        }
        return new ByteSize(number << shift);
    }

    /** For people: {@code 64 MiB}, {@code 8 B}, {@code 5000 B}. */
    public static String format(long bytes) {
        String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
        int unit = 0;
        long value = bytes;
        while (value != 0 && value % 1024 == 0 && unit < units.length - 1) {
            value /= 1024;
            unit++;
        }
        return value + " " + units[unit];
    }

    /** For picocli. */
    public static final class Converter implements ITypeConverter<ByteSize> {
        @Override
        public ByteSize convert(String value) {
            try {
                return parse(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }
}
