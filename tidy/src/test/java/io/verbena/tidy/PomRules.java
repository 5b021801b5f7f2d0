// SPDX-License-Identifier: Apache-2.0
package io.verbena.tidy;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** Rules on the build files. */
final class PomRules {
    /** Modules that run with nothing but the JDK. */
    static final Set<String> CORE = Set.of("verbs", "wire", "transport", "ffi", "link", "soft", "sim", "ibverbs");

    private static final Set<String> ABSENT_AT_RUN_TIME = Set.of("test", "provided");

    private PomRules() {}

    static List<String> coreNeedsOnlyTheJdk(List<SourceFile> files) throws Exception {
        List<String> complaints = new ArrayList<>();
        for (SourceFile file : files) {
            if (file.name().equals("pom.xml") && file.path().getNameCount() == 2) {
                String module = file.path().getName(0).toString();
                if (CORE.contains(module)) {
                    check(file, complaints);
                }
            }
        }
        return complaints;
    }

    private static void check(SourceFile file, List<String> complaints) throws Exception {
        NodeList dependencies = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(file.text())))
                .getElementsByTagName("dependency");
        for (int i = 0; i < dependencies.getLength(); i++) {
            Element dependency = (Element) dependencies.item(i);
            String group = text(dependency, "groupId");
            if (!group.equals("io.verbena") && !ABSENT_AT_RUN_TIME.contains(text(dependency, "scope"))) {
                complaints.add(file.path() + ": needs " + group + ":" + text(dependency, "artifactId")
                        + " at run time; a core module needs nothing but the JDK");
            }
        }
    }

    private static String text(Element parent, String tag) {
        NodeList found = parent.getElementsByTagName(tag);
        return found.getLength() == 0 ? "" : found.item(0).getTextContent().strip();
    }
}
