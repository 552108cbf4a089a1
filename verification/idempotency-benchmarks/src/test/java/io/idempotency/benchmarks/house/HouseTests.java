package io.idempotency.benchmarks.house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.tools.ToolProvider;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/** A project of a few classes, counted. */
class HouseTests {

	private static final String PACKAGE = "package io.idempotency.shelf;\n";

	@TempDir
	Path root;

	@BeforeEach
	void publishedProject() throws IOException {
		write("pom.xml", "<project/>");
	}

	@Test
	void linesOfCodeAreMoreThanCommentsBlanksAndImports() {
		SourceFile file = SourceFile.of("Book", PACKAGE + """

				import java.util.List; // not code

				/**
				 * A book.
				 *
				 * @since 0.1.0
				 */
				@Internal
				public class Book {

					/* Not code. */ // Nor this.
					String open = "/* code"; // and a comment
					char quote = '"', other = '\\''; /* begins here
					and ends here */ char slash = '/';

					String text = \"""
							// code, and a \\\""" inside
							import code;

							\""";
					/** @return not at the beginning of a line */
				}
				""");
		assertThat(file).isEqualTo(new SourceFile("io.idempotency.shelf", "Book", 24, 11, true, 1));
	}

	@Test
	void typeIsInternalIfItIsPublicAndItself() {
		assertThat(SourceFile.of("Book", PACKAGE + "@Internal\nclass Book {\n}").internal()).isFalse();
		assertThat(SourceFile.of("Book", PACKAGE + "public class Book {\n\t@Internal\n\tpublic class Page {\n\t}\n}")
			.internal()).isFalse();
	}

	@Test
	void modulesAreFoundWhereverTheyAre() throws IOException {
		source("core", "Book", "class Book {\n}");
		source("stores/shelf", "Shelf", "class Shelf {\n\n\tBook[] books;\n\n}");
		write("verification/pom.xml", "<maven.deploy.skip>true</maven.deploy.skip>");
		source("verification/proofs", "Proof", "class Proof {\n}");
		write("verification/proofs/src/test/java/io/idempotency/shelf/ProofTests.java",
				PACKAGE + "class ProofTests {\n}");
		source("samples/shop", "Shop", "class Shop {\n}");
		source("shelf-test", "Bookend", "class Bookend {\n}");
		compile("core", "stores/shelf");
		assertThat(new House(this.root).report().lines()).contains("| main files; code; lines | 2; 7; 9 |",
				"| classes; with one user; with ≤ 20 code lines | 2; 1; 2 |", "| test code; ÷ main code | 3; 0.43 |",
				"| `core` | library | 1 | 3 | 3 | 0 | 0 | 0 |", "| `shelf` | library | 1 | 4 | 6 | 0 | 0 | 0 |",
				"| `proofs` | kit | 1 | 3 | 3 | 1 | 3 | 3 |", "| `shop` | sample | 1 | 3 | 3 | 0 | 0 | 0 |",
				"| `shelf-test` | kit | 1 | 3 | 3 | 0 | 0 | 0 |", "| `core` | `shelf` | 1 | 3 | 1 | 1 | 0 |");
	}

	@Test
	void circleIsThatOfClassesThatLeadToEachOther() throws IOException {
		source("core", "Book",
				"class Book {\n\n\tclass Page {\n\n\t\tShelf shelf() {\n\t\t\treturn null;\n\t\t}\n\n\t}\n\n}");
		source("core", "Shelf", "class Shelf {\n\n\tjava.util.List<Library> libraries;\n\n}");
		source("core", "Library", "class Library {\n\n\tint pages() {\n\t\treturn new Book[0].length;\n\t}\n\n}");
		source("core", "Reader", "class Reader {\n\n\tBook book;\n\n\tReader neighbour;\n\n}");
		compile("core");
		House house = new House(this.root);
		List<SourceFile> files = SourceModule.below(this.root).get(0).main();
		assertThat(house.circle(files)).containsExactly("io.idempotency.shelf.Book", "io.idempotency.shelf.Library",
				"io.idempotency.shelf.Shelf");
		assertThat(house.circle(files.subList(0, 1))).isEmpty();
		assertThat(house.oneUser(files)).containsExactly("io.idempotency.shelf.Library", "io.idempotency.shelf.Shelf");
	}

	@Test
	void moduleThatIsNotCompiledIsNotCountedAsEmpty() throws IOException {
		source("core", "Book", "class Book {\n}");
		assertThatIOException().isThrownBy(() -> new House(this.root))
			.withMessageContaining("run the phase process-classes");
	}

	private void source(String module, String name, String code) throws IOException {
		write(module + "/pom.xml", "<project/>");
		write(module + "/src/main/java/io/idempotency/shelf/" + name + ".java", PACKAGE + code + "\n");
	}

	private void write(String file, String text) throws IOException {
		Path path = this.root.resolve(file);
		Files.createDirectories(path.getParent());
		Files.writeString(path, text);
	}

	/** Each with those before it. */
	private void compile(String... modules) throws IOException {
		List<String> classPath = new ArrayList<>();
		for (String module : modules) {
			Path classes = Files.createDirectories(this.root.resolve(module).resolve("target/classes"));
			classPath.add(classes.toString());
			List<String> arguments = new ArrayList<>(List.of("-proc:none", "-d", classes.toString(), "-cp",
					String.join(java.io.File.pathSeparator, classPath)));
			try (var files = Files.walk(this.root.resolve(module).resolve("src"))) {
				files.map(Path::toString).filter((file) -> file.endsWith(".java")).forEach(arguments::add);
			}
			assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
				.isZero();
		}
	}

}
