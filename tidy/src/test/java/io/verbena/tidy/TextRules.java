// SPDX-License-Identifier: Apache-2.0
package io.verbena.tidy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Rules on files as text. Each returns its complaints. */
final class TextRules {
    static final int FILE_LINES_MAX = 800;
    static final int LINE_LENGTH_MAX = 120;

    // Written in pieces, so that this file passes its own rules.
    private static final Pattern UNFINISHED =
            Pattern.compile("\\b(TO" + "DO|FIX" + "ME|XX" + "X|HA" + "CK)\\b|@Dis" + "abled|@Ig" + "nore\\b");
    private static final Pattern MACHINE_PATH = Pattern.compile("(?<![\\w.}*-])/(work|root|home)" + "/");
    private static final Pattern PACKAGE_DOC =
            Pattern.compile("/\\*\\*\\s(?:(?!\\*/).)*\\w[.:](?:(?!\\*/).)*\\*/", Pattern.DOTALL);
    private static final Pattern NULL_MARKED = Pattern.compile("@(org\\.jspecify\\.annotations\\.)?NullMarked\\s");
    private static final String LICENCE = "// SPDX-License-Identifier: Apache-2.0";

    private TextRules() {}

    static List<String> filesAreShort(List<SourceFile> files) {
        return files.stream()
                .filter(file -> file.isJava() || file.isScript())
                .filter(file -> file.lines().size() > FILE_LINES_MAX)
                .map(file -> file.at(file.lines().size(), "more than " + FILE_LINES_MAX + " lines"))
                .toList();
    }

    static List<String> linesAreShort(List<SourceFile> files) {
        return complaints(
                files,
                file -> file.isJava() || file.isScript(),
                line -> line.codePointCount(0, line.length()) > LINE_LENGTH_MAX,
                "longer than " + LINE_LENGTH_MAX);
    }

    static List<String> noTabs(List<SourceFile> files) {
        return complaints(
                files,
                file -> file.isJava() || file.isScript() || file.name().endsWith(".xml"),
                line -> line.indexOf('\t') >= 0,
                "tab");
    }

    static List<String> nothingUnfinished(List<SourceFile> files) {
        return complaints(
                files,
                file -> file.isJava() || file.isScript(),
                line -> UNFINISHED.matcher(line).find(),
                "unfinished work or a test switched off");
    }

    static List<String> noMachinePaths(List<SourceFile> files) {
        return complaints(files, _ -> true, line -> MACHINE_PATH.matcher(line).find(), "path of somebody's machine");
    }

    static List<String> licenceOnTop(List<SourceFile> files) {
        return files.stream()
                .filter(SourceFile::isJava)
                .filter(file ->
                        !file.name().equals("package-info.java") && !file.name().equals("module-info.java"))
                .filter(file -> !file.text().startsWith(LICENCE))
                .map(file -> file.at(1, "does not start with " + LICENCE))
                .toList();
    }

    /** Every package says in a sentence what it is for, and is null-marked. */
    static List<String> packagesAreDescribed(List<SourceFile> files) {
        Set<String> packages = files.stream()
                .filter(SourceFile::isMainJava)
                .filter(file -> !file.name().equals("module-info.java"))
                .map(file -> file.path().getParent().toString())
                .collect(Collectors.toCollection(TreeSet::new));
        List<String> complaints = new ArrayList<>();
        for (String folder : packages) {
            String text = files.stream()
                    .filter(file -> file.name().equals("package-info.java"))
                    .filter(file -> file.path().getParent().toString().equals(folder))
                    .map(SourceFile::text)
                    .findFirst()
                    .orElse("");
            if (!PACKAGE_DOC.matcher(text).find()) {
                complaints.add(folder + ": no package-info.java that says in a sentence what the package is for");
            } else if (!NULL_MARKED.matcher(text).find()) {
                complaints.add(folder + ": package-info.java lacks @NullMarked");
            }
        }
        return complaints;
    }

    private static List<String> complaints(
            List<SourceFile> files, Predicate<SourceFile> scope, Predicate<String> broken, String complaint) {
        List<String> complaints = new ArrayList<>();
        for (SourceFile file : files) {
            if (scope.test(file)) {
                List<String> lines = file.lines();
                for (int i = 0; i < lines.size(); i++) {
                    if (broken.test(lines.get(i))) {
                        complaints.add(file.at(i + 1, complaint));
                    }
                }
            }
        }
        return complaints;
    }
}
