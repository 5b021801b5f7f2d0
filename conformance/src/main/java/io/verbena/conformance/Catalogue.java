// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * All behaviours in their order, from {@code catalogue.txt}: a line each, {@code ID LEVEL TEXT [NOTE]}, under headings
 * that begin with {@code #}.
 */
public final class Catalogue {
    private static final Pattern LINE = Pattern.compile("([A-Z]+-\\d+)\\s+([MSO])\\s+(.*?)(?:\\s+\\[(.*)])?");

    private Catalogue() {}

    public static List<Behaviour> load() {
        try (InputStream in = Objects.requireNonNull(Catalogue.class.getResourceAsStream("catalogue.txt"))) {
            return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Behaviour> parse(String text) {
        List<Behaviour> behaviours = new ArrayList<>();
        String area = "";
        for (String line : text.lines().filter(line -> !line.isBlank()).toList()) {
            if (line.startsWith("#")) {
                area = line.substring(1).strip();
                continue;
            }
            Matcher matcher = LINE.matcher(line);
            if (!matcher.matches()) {
                throw new IllegalArgumentException("not ID LEVEL TEXT [NOTE]: " + line);
            }
            String note = Objects.requireNonNullElse(matcher.group(4), "");
            behaviours.add(new Behaviour(matcher.group(1), Level.of(matcher.group(2)), area, matcher.group(3), note));
        }
        return behaviours;
    }
}
