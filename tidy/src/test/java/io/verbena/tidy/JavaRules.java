// SPDX-License-Identifier: Apache-2.0
package io.verbena.tidy;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Rules on the syntax tree of a Java file. */
final class JavaRules {
    static final int METHOD_LINES_MAX = 60;

    private JavaRules() {}

    /** Methods, constructors and initialisers, from the first modifier to the closing brace. */
    static List<String> methodsAreShort(List<SourceFile> files) throws IOException {
        return scan(files.stream().filter(SourceFile::isJava).toList(), MethodLengths::new);
    }

    /** Public types say what they are. */
    static List<String> publicTypesAreDescribed(List<SourceFile> files) throws IOException {
        return scan(files.stream().filter(SourceFile::isMainJava).toList(), TypeDocs::new);
    }

    private interface ScannerFactory {
        Scanner create(SourceFile file, DocTrees trees, CompilationUnitTree unit);
    }

    private static List<String> scan(List<SourceFile> files, ScannerFactory factory) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> complaints = new ArrayList<>();
        for (SourceFile file : files) {
            JavacTask task =
                    (JavacTask) compiler.getTask(null, null, _ -> {}, List.of(), null, List.of(new InMemory(file)));
            DocTrees trees = DocTrees.instance(task);
            for (CompilationUnitTree unit : task.parse()) {
                Scanner scanner = factory.create(file, trees, unit);
                scanner.scan(unit, null);
                complaints.addAll(scanner.complaints);
            }
        }
        return complaints;
    }

    private abstract static class Scanner extends TreePathScanner<Void, Void> {
        final List<String> complaints = new ArrayList<>();
        final SourceFile file;
        final DocTrees trees;
        private final CompilationUnitTree unit;

        Scanner(SourceFile file, DocTrees trees, CompilationUnitTree unit) {
            this.file = file;
            this.trees = trees;
            this.unit = unit;
        }

        int startLine(Tree tree) {
            return line(positions().getStartPosition(unit, tree));
        }

        int endLine(Tree tree) {
            return line(positions().getEndPosition(unit, tree));
        }

        private SourcePositions positions() {
            return trees.getSourcePositions();
        }

        private int line(long position) {
            LineMap lines = unit.getLineMap();
            return (int) lines.getLineNumber(position);
        }
    }

    private static final class MethodLengths extends Scanner {
        MethodLengths(SourceFile file, DocTrees trees, CompilationUnitTree unit) {
            super(file, trees, unit);
        }

        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
            // A record's implicit constructor has no text.
            if (method.getBody() != null) {
                measure(method, "method " + method.getName());
            }
            return super.visitMethod(method, null);
        }

        @Override
        public Void visitBlock(BlockTree block, Void nothing) {
            if (getCurrentPath().getParentPath().getLeaf() instanceof ClassTree) {
                measure(block, "initialiser");
            }
            return super.visitBlock(block, null);
        }

        private void measure(Tree tree, String what) {
            int length = endLine(tree) - startLine(tree) + 1;
            if (length > METHOD_LINES_MAX) {
                complaints.add(file.at(startLine(tree), what + " has " + length + " lines"));
            }
        }
    }

    private static final class TypeDocs extends Scanner {
        TypeDocs(SourceFile file, DocTrees trees, CompilationUnitTree unit) {
            super(file, trees, unit);
        }

        @Override
        public Void visitClass(ClassTree type, Void nothing) {
            TreePath path = getCurrentPath();
            boolean topLevel = path.getParentPath().getLeaf() instanceof CompilationUnitTree;
            boolean isPublic = type.getModifiers().getFlags().contains(Modifier.PUBLIC);
            if (topLevel && isPublic && trees.getDocComment(path) == null) {
                complaints.add(file.at(startLine(type), "public type " + type.getSimpleName() + " has no Javadoc"));
            }
            return super.visitClass(type, null);
        }
    }

    private static final class InMemory extends SimpleJavaFileObject {
        private final String text;

        InMemory(SourceFile file) {
            super(URI.create("string:///" + file.name()), JavaFileObject.Kind.SOURCE);
            this.text = file.text();
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
