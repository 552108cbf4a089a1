package io.idempotency.it.faults;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Set;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * A JVM in this JVM whose clock is five minutes fast: it loads every class of the class
 * path anew, library, drivers and pool, and each one that asks for the time asks here.
 */
public final class ShiftedClock extends URLClassLoader {

	/** How far it is fast. */
	public static final Duration SHIFT = Duration.ofMinutes(5);

	private static final String HERE = ShiftedClock.class.getName().replace('.', '/');

	/** Both worlds must know them by the same class. */
	private static final Set<String> SHARED = Set.of(ShiftedClock.class.getName(), ShiftedCaller.class.getName());

	/** Creates the loader. */
	public ShiftedClock() {
		super(classPath(), ShiftedClock.class.getClassLoader());
	}

	private static URL[] classPath() {
		return Arrays.stream(System.getProperty("java.class.path").split(System.getProperty("path.separator")))
			.map(ShiftedClock::url)
			.toArray(URL[]::new);
	}

	private static URL url(String entry) {
		try {
			return Path.of(entry).toUri().toURL();
		}
		catch (IOException ex) {
			throw new IllegalArgumentException(entry, ex);
		}
	}

	/**
	 * Makes a caller that lives there.
	 * @param type its class, with a constructor without parameters
	 * @return the caller
	 */
	public ShiftedCaller newCaller(Class<? extends ShiftedCaller> type) throws ReflectiveOperationException {
		var constructor = loadClass(type.getName()).getDeclaredConstructor();
		constructor.setAccessible(true);
		return (ShiftedCaller) constructor.newInstance();
	}

	@Override
	protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
		synchronized (getClassLoadingLock(name)) {
			Class<?> loaded = findLoadedClass(name);
			if (loaded != null) {
				return loaded;
			}
			URL file = SHARED.contains(name) ? null : findResource(name.replace('.', '/') + ".class");
			if (file == null) {
				return super.loadClass(name, resolve);
			}
			byte[] shifted = shift(file);
			return defineClass(name, shifted, 0, shifted.length);
		}
	}

	private static byte[] shift(URL file) throws ClassNotFoundException {
		try (InputStream input = file.openStream()) {
			ClassReader reader = new ClassReader(input);
			ClassWriter writer = new ClassWriter(reader, 0);
			reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
				@Override
				public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
						String[] exceptions) {
					return new Shift(super.visitMethod(access, name, descriptor, signature, exceptions));
				}
			}, 0);
			return writer.toByteArray();
		}
		catch (IOException ex) {
			throw new ClassNotFoundException(file.toString(), ex);
		}
	}

	/**
	 * The clock of that world, instead of {@link System#currentTimeMillis()}.
	 * @return milliseconds since 1970
	 */
	public static long currentTimeMillis() {
		return System.currentTimeMillis() + SHIFT.toMillis();
	}

	/**
	 * Instead of {@link Instant#now()}.
	 * @return now
	 */
	public static Instant now() {
		return Instant.now().plus(SHIFT);
	}

	/**
	 * Instead of {@link Clock#systemUTC()}.
	 * @return the clock
	 */
	public static Clock systemUTC() {
		return Clock.offset(Clock.systemUTC(), SHIFT);
	}

	/** Sends whoever asks for the time to this class. */
	private static final class Shift extends MethodVisitor {

		private static final Set<String> CLOCKS = Set.of("java/lang/System.currentTimeMillis()J",
				"java/time/Instant.now()Ljava/time/Instant;", "java/time/Clock.systemUTC()Ljava/time/Clock;");

		Shift(MethodVisitor next) {
			super(Opcodes.ASM9, next);
		}

		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
			boolean clock = CLOCKS.contains(owner + "." + name + descriptor);
			super.visitMethodInsn(opcode, clock ? HERE : owner, name, descriptor, isInterface);
		}

	}

}
