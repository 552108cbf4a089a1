package io.idempotency.benchmarks.house;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Which types of the project a class file names: in code, signatures and annotations. A
 * constant that the compiler has copied leaves no name.
 *
 * @param type the type that the file belongs to, without those nested in it
 * @param names what it names, without itself and without those nested
 */
record ClassFile(String type, Set<String> names) {

	private static final Pattern NAME = Pattern.compile("(?:^|L)(io/idempotency/[\\w/]+)");

	private static final int MAGIC = 0xCAFEBABE;

	/**
	 * Reads one.
	 * @param classes the directory with the class files of a module
	 * @param file below it
	 */
	static ClassFile read(Path classes, Path file) throws IOException {
		String name = classes.relativize(file).toString().replace(".class", "").replace('\\', '/');
		String type = outermost(name);
		Set<String> names = new TreeSet<>();
		try (var in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
			if (in.readInt() != MAGIC) {
				throw new IOException("No class file: " + file);
			}
			in.skipNBytes(4);
			addNames(in, names);
		}
		names.remove(type);
		return new ClassFile(type, names);
	}

	/** The names of types are all in the constant pool: section 4.4 of the JVM's book. */
	private static void addNames(DataInputStream in, Set<String> names) throws IOException {
		int count = in.readUnsignedShort();
		for (int i = 1; i < count; i++) {
			int tag = in.readUnsignedByte();
			switch (tag) {
				case 1 -> NAME.matcher(in.readUTF()).results().forEach((found) -> names.add(outermost(found.group(1))));
				case 3, 4, 9, 10, 11, 12, 17, 18 -> in.skipNBytes(4);
				case 5, 6 -> {
					in.skipNBytes(8);
					// They count as two.
					i++;
				}
				case 7, 8, 16, 19, 20 -> in.skipNBytes(2);
				case 15 -> in.skipNBytes(3);
				default -> throw new IOException("A constant that nobody knows: " + tag);
			}
		}
	}

	/** The type of the source file: without what is nested, without lambdas. */
	static String outermost(String name) {
		int nested = name.indexOf('$');
		return ((nested < 0) ? name : name.substring(0, nested)).replace('/', '.');
	}

}
