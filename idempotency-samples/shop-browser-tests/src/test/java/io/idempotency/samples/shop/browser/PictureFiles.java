package io.idempotency.samples.shop.browser;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageTypeSpecifier;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.metadata.IIOMetadata;
import javax.imageio.metadata.IIOMetadataNode;
import javax.imageio.stream.ImageOutputStream;

/**
 * Writes pictures with 256 colours, a third of the size of the browser's own.
 */
final class PictureFiles {

	private static final String GIF_METADATA = "javax_imageio_gif_image_1.0";

	private PictureFiles() {
	}

	/**
	 * A picture of an animation.
	 *
	 * @param png what is seen
	 * @param shown for how long
	 */
	record Frame(byte[] png, Duration shown) {

	}

	static void writePng(byte[] png, Path file) throws IOException {
		Files.createDirectories(file.getParent());
		Files.deleteIfExists(file);
		ImageWriter writer = ImageIO.getImageWritersByFormatName("png").next();
		try (ImageOutputStream output = ImageIO.createImageOutputStream(file.toFile())) {
			ImageWriteParam parameters = writer.getDefaultWriteParam();
			parameters.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
			parameters.setCompressionQuality(0);
			writer.setOutput(output);
			writer.write(null, new IIOImage(withFewColours(read(png)), null, null), parameters);
		}
		finally {
			writer.dispose();
		}
	}

	/** An animation that begins again when it has ended. */
	static void writeGif(List<Frame> frames, Path file) throws IOException {
		Files.createDirectories(file.getParent());
		Files.deleteIfExists(file);
		BufferedImage all = withFewColours(belowEachOther(frames));
		int height = all.getHeight() / frames.size();
		ImageWriter writer = ImageIO.getImageWritersByFormatName("gif").next();
		try (ImageOutputStream output = ImageIO.createImageOutputStream(file.toFile())) {
			writer.setOutput(output);
			writer.prepareWriteSequence(null);
			for (int i = 0; i < frames.size(); i++) {
				BufferedImage image = all.getSubimage(0, i * height, all.getWidth(), height);
				Duration shown = frames.get(i).shown();
				writer.writeToSequence(new IIOImage(image, null, metadata(writer, image, shown)), null);
			}
			writer.endWriteSequence();
		}
		finally {
			writer.dispose();
		}
	}

	private static BufferedImage read(byte[] png) throws IOException {
		return ImageIO.read(new ByteArrayInputStream(png));
	}

	/** One picture, so that all frames get the same colours. */
	private static BufferedImage belowEachOther(List<Frame> frames) throws IOException {
		BufferedImage first = read(frames.get(0).png());
		BufferedImage all = new BufferedImage(first.getWidth(), first.getHeight() * frames.size(),
				BufferedImage.TYPE_INT_RGB);
		for (int i = 0; i < frames.size(); i++) {
			all.createGraphics().drawImage(read(frames.get(i).png()), 0, i * first.getHeight(), null);
		}
		return all;
	}

	/** The GIF writer chooses the colours; nothing else in the JDK does. */
	private static BufferedImage withFewColours(BufferedImage image) throws IOException {
		BufferedImage opaque = new BufferedImage(image.getWidth(), image.getHeight(), BufferedImage.TYPE_INT_RGB);
		opaque.createGraphics().drawImage(image, 0, 0, null);
		ByteArrayOutputStream gif = new ByteArrayOutputStream();
		ImageIO.write(opaque, "gif", gif);
		return read(gif.toByteArray());
	}

	private static IIOMetadata metadata(ImageWriter writer, BufferedImage image, Duration shown) throws IOException {
		// Not createFromRenderedImage: that takes the colours of all indexed images for
		// the same.
		IIOMetadata metadata = writer.getDefaultImageMetadata(new ImageTypeSpecifier(image), null);
		IIOMetadataNode control = new IIOMetadataNode("GraphicControlExtension");
		control.setAttribute("disposalMethod", "none");
		control.setAttribute("userInputFlag", "FALSE");
		control.setAttribute("transparentColorFlag", "FALSE");
		control.setAttribute("delayTime", Long.toString(shown.toMillis() / 10));
		control.setAttribute("transparentColorIndex", "0");
		IIOMetadataNode forever = new IIOMetadataNode("ApplicationExtension");
		forever.setAttribute("applicationID", "NETSCAPE");
		forever.setAttribute("authenticationCode", "2.0");
		forever.setUserObject(new byte[] { 1, 0, 0 });
		IIOMetadataNode extensions = new IIOMetadataNode("ApplicationExtensions");
		extensions.appendChild(forever);
		IIOMetadataNode root = new IIOMetadataNode(GIF_METADATA);
		root.appendChild(control);
		root.appendChild(extensions);
		metadata.mergeTree(GIF_METADATA, root);
		return metadata;
	}

}
