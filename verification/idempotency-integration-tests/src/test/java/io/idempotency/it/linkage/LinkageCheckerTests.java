package io.idempotency.it.linkage;

import java.io.IOException;
import java.io.InputStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A checker that finds nothing proves nothing: each kind of break, made on purpose.
 */
class LinkageCheckerTests {

	private final LinkageChecker checker = new LinkageChecker(getClass().getClassLoader());

	@Test
	void ordinaryClassesLink() throws IOException {
		assertThat(this.checker.check(bytesOf(LinkageChecker.class))).isEmpty();
		assertThat(this.checker.check(bytesOf(LinkageProblem.class))).isEmpty();
		assertThat(this.checker.check(bytesOf(LinkageCheckerTests.class))).isEmpty();
	}

	@Test
	void missingSuperclassIsFound() {
		assertThat(this.checker.check(brokenClass("org/example/Gone", null).toByteArray()))
			.extracting(LinkageProblem::toString)
			.containsExactly("broken.Broken: org.example.Gone is missing");
	}

	@Test
	void missingInterfaceIsFound() {
		assertThat(this.checker.check(brokenClass("java/lang/Object", "org/example/Gone").toByteArray()))
			.extracting(LinkageProblem::to)
			.containsExactly("org/example/Gone");
	}

	@Test
	void superclassThatBecameAnInterfaceIsFound() {
		assertThat(this.checker.check(brokenClass("java/io/Serializable", null).toByteArray()))
			.extracting(LinkageProblem::description)
			.containsExactly("is an interface now");
	}

	@Test
	void interfaceThatBecameAClassIsFound() {
		assertThat(this.checker.check(brokenClass("java/lang/Object", "java/lang/Thread").toByteArray()))
			.extracting(LinkageProblem::description)
			.containsExactly("is no interface any more");
	}

	@Test
	void superclassThatBecameFinalIsFound() {
		assertThat(this.checker.check(brokenClass("java/lang/String", null).toByteArray()))
			.extracting(LinkageProblem::description)
			.contains("is final now");
	}

	@Test
	void abstractMethodThatIsNotImplementedIsFound() {
		assertThat(this.checker.check(brokenClass("java/lang/Object", "java/lang/Runnable").toByteArray()))
			.extracting(LinkageProblem::description)
			.containsExactly("has an abstract method that is not implemented: run()V");
	}

	@Test
	void missingMethodIsFound() {
		assertThat(this.checker.check(caller("java/lang/String", "gone", "()I", false)))
			.extracting(LinkageProblem::toString)
			.containsExactly("broken.Broken: java.lang.String has no method gone ()I that can be used here");
	}

	@Test
	void methodWithAnotherReturnTypeIsFound() {
		assertThat(this.checker.check(caller("java/lang/String", "length", "()J", false))).hasSize(1);
	}

	@Test
	void privateMethodIsFound() {
		assertThat(this.checker.check(caller("java/lang/String", "isASCII", "()Z", false))).hasSize(1);
	}

	@Test
	void inheritedMethodLinks() {
		assertThat(this.checker.check(caller("java/util/ArrayList", "containsAll", "(Ljava/util/Collection;)Z", false)))
			.isEmpty();
		assertThat(this.checker.check(caller("java/util/List", "iterator", "()Ljava/util/Iterator;", true))).isEmpty();
	}

	@Test
	void methodOfAClassThatBecameAnInterfaceIsFound() {
		assertThat(this.checker.check(caller("java/util/List", "size", "()I", false)))
			.extracting(LinkageProblem::description)
			.containsExactly("is an interface now");
	}

	@Test
	void methodOfAMissingClassIsFoundOnce() {
		assertThat(this.checker.check(caller("org/example/Gone", "size", "()I", false)))
			.extracting(LinkageProblem::description)
			.containsExactly("is missing");
	}

	@Test
	void missingFieldIsFound() {
		ClassWriter writer = brokenClass("java/lang/Object", null);
		MethodVisitor method = method(writer, "()V");
		method.visitFieldInsn(Opcodes.GETSTATIC, "java/lang/Integer", "GONE", "I");
		end(writer, method);
		assertThat(this.checker.check(writer.toByteArray())).extracting(LinkageProblem::description)
			.containsExactly("has no field GONE I that can be used here");
	}

	@Test
	void missingTypeInASignatureIsFound() {
		ClassWriter writer = brokenClass("java/lang/Object", null);
		end(writer, method(writer, "([[Lorg/example/Gone;)V"));
		assertThat(this.checker.check(writer.toByteArray())).extracting(LinkageProblem::to)
			.containsExactly("org/example/Gone");
	}

	private static byte[] caller(String owner, String name, String descriptor, boolean ownerIsInterface) {
		ClassWriter writer = brokenClass("java/lang/Object", null);
		MethodVisitor method = method(writer, "()V");
		method.visitMethodInsn(ownerIsInterface ? Opcodes.INVOKEINTERFACE : Opcodes.INVOKEVIRTUAL, owner, name,
				descriptor, ownerIsInterface);
		end(writer, method);
		return writer.toByteArray();
	}

	private static ClassWriter brokenClass(String superName, @Nullable String interfaceName) {
		ClassWriter writer = new ClassWriter(0);
		writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, "broken/Broken", null, superName,
				(interfaceName != null) ? new String[] { interfaceName } : null);
		return writer;
	}

	/** Never run or verified, so the stack does not matter. */
	private static MethodVisitor method(ClassWriter writer, String descriptor) {
		MethodVisitor method = writer.visitMethod(Opcodes.ACC_STATIC, "broken", descriptor, null, null);
		method.visitCode();
		return method;
	}

	private static void end(ClassWriter writer, MethodVisitor method) {
		method.visitInsn(Opcodes.RETURN);
		method.visitMaxs(9, 9);
		method.visitEnd();
		writer.visitEnd();
	}

	private static byte[] bytesOf(Class<?> type) throws IOException {
		try (InputStream in = type.getResourceAsStream(type.getSimpleName() + ".class")) {
			return in.readAllBytes();
		}
	}

}
