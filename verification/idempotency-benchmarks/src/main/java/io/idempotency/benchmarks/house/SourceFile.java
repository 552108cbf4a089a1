package io.idempotency.benchmarks.house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A source file in numbers. It has to be formatted as those of this project are: what is
 * at the beginning of a line belongs to the type that gives the file its name.
 *
 * @param packageName its package
 * @param simpleName the type that gives the file its name
 * @param lines all lines
 * @param code lines that are more than comments, blanks and imports
 * @param internal whether its type is public and marked {@code @Internal}
 * @param tags lines of its Javadoc that begin with a tag
 */
record SourceFile(String packageName, String simpleName, int lines, int code, boolean internal, int tags) {

	/** A small class: merge it upward, or nest it. */
	static final int SMALL = 20;

	/** Literals are found, too, since a comment cannot begin in one. */
	private static final Pattern COMMENT_OR_LITERAL = Pattern.compile("""
			(?xs)
			  \"""  [^"\\\\]*+ (?: (?: \\\\. | "(?!"") ) [^"\\\\]*+ )*+ \"""
			| "     (?: \\\\. | [^"\\\\\\n] )*+ "
			| '     (?: \\\\. | [^'\\\\\\n] )*+ '
			| /\\*  .*? \\*/
			| //    [^\\n]*+
			""");

	private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");

	private static final Pattern CODE_LINE = Pattern.compile("(?m)^(?!import )[^\\n]*\\S");

	private static final Pattern INTERNAL = Pattern.compile("(?m)^@Internal$");

	private static final Pattern PUBLIC = Pattern.compile("(?m)^public ");

	private static final Pattern TAG_LINE = Pattern.compile("(?m)^\\s*\\*\\s+@\\w");

	static SourceFile read(Path file) throws IOException {
		return of(file.getFileName().toString().replace(".java", ""), Files.readString(file));
	}

	static SourceFile of(String simpleName, String text) {
		String code = COMMENT_OR_LITERAL.matcher(text).replaceAll(SourceFile::withoutComment);
		var packageLine = PACKAGE.matcher(code);
		if (!packageLine.find()) {
			throw new IllegalArgumentException("No package in " + simpleName + ".java");
		}
		boolean internal = INTERNAL.matcher(code).find() && PUBLIC.matcher(code).find();
		return new SourceFile(packageLine.group(1), simpleName, (int) text.lines().count(), count(CODE_LINE, code),
				internal, count(TAG_LINE, text));
	}

	private static String withoutComment(MatchResult found) {
		return found.group().startsWith("/") ? found.group().replaceAll("[^\n]+", "")
				: Matcher.quoteReplacement(found.group());
	}

	private static int count(Pattern pattern, String text) {
		return (int) pattern.matcher(text).results().count();
	}

	/** Whether it says something of a package and has no type. */
	boolean isPackageInfo() {
		return this.simpleName.equals("package-info");
	}

	/** The type that gives it its name. */
	String type() {
		return this.packageName + "." + this.simpleName;
	}

	boolean isSmall() {
		return this.code <= SMALL;
	}

}
