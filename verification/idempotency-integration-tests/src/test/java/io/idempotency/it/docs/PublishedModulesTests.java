package io.idempotency.it.docs;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

import static org.assertj.core.api.Assertions.assertThat;

/** What goes into a public repository, as the poms tell it. */
class PublishedModulesTests {

	private static final String MODULE_NAME = "/project/properties/java.module.name";

	@Test
	void billOfMaterialsNamesEveryPublishedJarInTheVersionOfTheParent() throws Exception {
		Document bill = pom("idempotency-bom");
		List<String> published = new ArrayList<>(
				published().stream().map((module) -> module.substring(module.lastIndexOf('/') + 1)).toList());
		assertThat(published.remove("idempotency-bom")).isTrue();
		assertThat(texts(bill, "//dependencyManagement//artifactId")).containsExactlyInAnyOrderElementsOf(published);
		assertThat(texts(bill, "//dependencyManagement//version")).containsOnly("${project.version}");
		assertThat(texts(bill, "/project/version")).isEqualTo(texts(pom("."), "/project/version"));
	}

	@Test
	void billOfMaterialsBringsNoVersionsOfOthers() throws Exception {
		assertThat(texts(pom("idempotency-bom"), "/project/parent")).isEmpty();
		assertThat(texts(pom("idempotency-bom"), "//dependencyManagement//groupId")).containsOnly("io.idempotency");
	}

	@Test
	void everyPublishedJarHasTheNameOfAModule() throws Exception {
		List<String> names = new ArrayList<>();
		for (String module : published()) {
			if (!module.equals("idempotency-bom")) {
				assertThat(texts(pom(module), MODULE_NAME)).as(module).hasSize(1);
				names.addAll(texts(pom(module), MODULE_NAME));
			}
		}
		assertThat(names).doesNotHaveDuplicates()
			.allMatch((name) -> name.matches("io\\.idempotency(\\.[a-z][a-z0-9]*)+"));
	}

	/** A dependency without exclusions is a line of its own, as in a table. */
	@Test
	void everyPomOfAPublishedModuleIsShort() throws Exception {
		for (String module : published()) {
			assertThat(Files.readAllLines(file(module))).as(module).hasSizeLessThanOrEqualTo(111);
		}
	}

	private static List<String> published() throws Exception {
		List<String> published = new ArrayList<>();
		for (String module : texts(pom("."), "/project/modules/module")) {
			if (texts(pom(module), "/project/properties/maven.deploy.skip").isEmpty()) {
				published.add(module);
			}
		}
		assertThat(published).hasSize(19);
		return published;
	}

	private static Document pom(String module) throws Exception {
		return DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder().parse(file(module).toFile());
	}

	private static Path file(String module) {
		return Page.ROOT.resolve(module).resolve("pom.xml");
	}

	private static List<String> texts(Document pom, String path) throws Exception {
		NodeList nodes = (NodeList) XPathFactory.newDefaultInstance()
			.newXPath()
			.evaluate(path, pom, XPathConstants.NODESET);
		List<String> texts = new ArrayList<>();
		for (int i = 0; i < nodes.getLength(); i++) {
			texts.add(nodes.item(i).getTextContent().strip());
		}
		return texts;
	}

}
