package io.idempotency.it.linkage;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Type;

/**
 * What one class file asks the JVM to link: the class, field and method entries of its
 * constant pool, and the types of its own members, which reflection loads.
 *
 * @param types names of classes
 * @param members fields and methods
 */
record ClassReferences(Set<String> types, Set<MemberReference> members) {

	private static final int CLASS = 7;

	private static final int FIELD = 9;

	private static final int METHOD = 10;

	private static final int INTERFACE_METHOD = 11;

	static ClassReferences of(ClassReader reader) {
		ClassReferences references = new ClassReferences(new LinkedHashSet<>(), new LinkedHashSet<>());
		char[] buffer = new char[reader.getMaxStringLength()];
		for (int index = 1; index < reader.getItemCount(); index++) {
			int item = reader.getItem(index);
			if (item > 0) {
				references.add(reader, reader.readByte(item - 1), item, buffer);
			}
		}
		for (ClassPathType.Member member : ClassPathType.read(reader).members()) {
			references.addTypesOf(member.descriptor());
		}
		return references;
	}

	private void add(ClassReader reader, int tag, int item, char[] buffer) {
		if (tag == CLASS) {
			addType(Type.getObjectType(reader.readUTF8(item, buffer)));
			return;
		}
		if (tag != FIELD && tag != METHOD && tag != INTERFACE_METHOD) {
			return;
		}
		Type owner = Type.getObjectType(reader.readClass(item, buffer));
		int nameAndType = reader.getItem(reader.readUnsignedShort(item + 2));
		// Of an array type there are only the methods of Object.
		String ownerName = (owner.getSort() == Type.ARRAY) ? "java/lang/Object" : owner.getInternalName();
		this.members.add(new MemberReference(ownerName, tag == INTERFACE_METHOD, reader.readUTF8(nameAndType, buffer),
				reader.readUTF8(nameAndType + 2, buffer)));
	}

	private void addTypesOf(String descriptor) {
		Type type = Type.getType(descriptor);
		if (type.getSort() != Type.METHOD) {
			addType(type);
			return;
		}
		addType(type.getReturnType());
		List.of(type.getArgumentTypes()).forEach(this::addType);
	}

	private void addType(Type type) {
		Type element = (type.getSort() == Type.ARRAY) ? type.getElementType() : type;
		if (element.getSort() == Type.OBJECT) {
			this.types.add(element.getInternalName());
		}
	}

	/**
	 * A field or method of another class, as the caller was compiled to see it.
	 *
	 * @param owner the class it is looked up in
	 * @param ownerIsInterface whether the owner was an interface; only said of methods
	 * @param name the name
	 * @param descriptor the descriptor
	 */
	record MemberReference(String owner, boolean ownerIsInterface, String name, String descriptor) {

		boolean isMethod() {
			return this.descriptor.startsWith("(");
		}

	}

}
